/** Lowest port that media is sent to: nothing is ever sent to the ports of well-known services. */
export const LOWEST_PEER_PORT = 1024
