import type { Socket } from 'node:net'

/** DSCP CS5, the class of telephony signalling (RFC 4594 section 4.2), in the upper six bits of the traffic class. */
const CS5 = 40 << 2

/**
 * Marks the packets of a connection as signalling. A system that does not allow it sends them unmarked. Node has no such call for
 * datagram sockets (docs/operations.md says how a host marks those).
 */
export function markAsSignalling(socket: Socket): void {
  try {
    socket.setTypeOfService(CS5)
  } catch {
    // The socket has closed, or the system does not allow it.
  }
}
