/** By this header of a request its sender asks that the answer be checked before it is sent. */
export const CHECKED_HEADER = "reeve-checked";
