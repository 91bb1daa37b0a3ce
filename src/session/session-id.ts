/**
 * The form of ids and names of sessions. In a file of its own, because the
 * command line needs nothing else of a session.
 */
export const SESSION_ID_PATTERN = /^[a-z0-9][a-z0-9-]{0,63}$/;
