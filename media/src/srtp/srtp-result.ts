/** Too short, wrong version, or a header beyond the packet. */
export const SRTP_MALFORMED = -1
/** Received before, or older than the replay window. */
export const SRTP_REPLAYED = -2
/** The tag does not verify: the sender does not have the key, or the packet is damaged. */
export const SRTP_UNAUTHENTICATED = -3
/** Authentic, but the context has no entry left for its SSRC (`MAX_STREAMS`). */
export const SRTP_TOO_MANY_STREAMS = -4
/**
 * RTCP in clear where SRTCP was agreed: some phones send it by mistake. It is dropped like a forgery and counted
 * separately.
 */
export const SRTP_CLEAR_RTCP = -5
/** The key has protected as many packets as it may (RFC 3711 section 9.2): a re-key is needed. */
export const SRTP_KEY_EXHAUSTED = -6
