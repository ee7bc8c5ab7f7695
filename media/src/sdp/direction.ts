import type { MediaDirection } from '../session/media-session.ts'

function directionOf(send: boolean, receive: boolean): MediaDirection {
  if (send) return receive ? 'sendrecv' : 'sendonly'
  return receive ? 'recvonly' : 'inactive'
}

function sends(direction: MediaDirection): boolean {
  return direction === 'sendrecv' || direction === 'sendonly'
}

function receives(direction: MediaDirection): boolean {
  return direction === 'sendrecv' || direction === 'recvonly'
}

/**
 * Our direction, from the one that we want and the one that the peer announces (RFC 3264 section 6.1): we send where it
 * receives and receive where it sends. A peer without an address (0.0.0.0, section 8.4) receives nothing.
 */
export function agreedDirection(wanted: MediaDirection, peer: MediaDirection, reachable: boolean): MediaDirection {
  return directionOf(sends(wanted) && receives(peer) && reachable, receives(wanted) && sends(peer))
}
