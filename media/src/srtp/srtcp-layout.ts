/** RTCP's own header of 8 bytes stays in clear. */
export const SRTCP_CLEAR_BYTES = 8

/** E flag and SRTCP index (RFC 3711 section 3.4). */
export const SRTCP_INDEX_BYTES = 4

export const SRTCP_ENCRYPTED = 0x80000000
/** SRTCP carries the long tag under all HMAC suites (RFC 4568 section 6.2, RFC 6188 section 4). */
export const SRTCP_TAG_BYTES = 10
