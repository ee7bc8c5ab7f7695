import type { Socket } from 'node:net'

/** DSCP CS5, the class of telephony signalling (RFC 4594 section 4.2), in the upper six bits of the traffic class. */
export const SIGNALLING_CLASS = 40 << 2

/**
 * Marks the packets of a connection as signalling. A system that does not allow it sends them unmarked. For datagram
 * sockets, for which Node has no such call, see `DatagramControl`.
 */
export function markAsSignalling(socket: Socket): void {
  try {
    socket.setTypeOfService(SIGNALLING_CLASS)
  } catch {
    // The socket has closed, or the system does not allow it.
  }
}
