/** What an id or a name of a session looks like. Alone, because the command line needs nothing else of a session. */
export const SESSION_ID_PATTERN = /^[a-z0-9][a-z0-9-]{0,63}$/;
