/** What can be closed by a native thread of the library at any time; sending then throws. */
interface Closing {
  isOpen(): boolean
}

/** Sends a packet while the track is open. One that was closed between the look and the sending loses it, as a network would. */
export function sendPacket(track: Closing & { sendMessageBinary(packet: Buffer): boolean }, packet: Buffer): boolean {
  try {
    return track.isOpen() && track.sendMessageBinary(packet)
  } catch {
    return false
  }
}

/** Sends a text while the channel is open and less than `mostUnread` bytes wait in it; see `sendPacket`. */
export function sendText(
  channel: Closing & { sendMessage(text: string): boolean; bufferedAmount(): number },
  text: string,
  mostUnread: number,
): boolean {
  try {
    return channel.isOpen() && channel.bufferedAmount() < mostUnread && channel.sendMessage(text)
  } catch {
    return false
  }
}
