/** What the engine learns of a room: as `PeerReport` of type state. */
type RoomState = 'connected' | 'disconnected' | 'left' | 'closed'

/**
 * State machine of one room: a call is connected while the agent is in the room, the visitor is too, and the visitor has the agent's
 * track, so that no word of the greeting is lost. A visitor who leaves ends the call; one whose path was lost may come back.
 */
export class VisitorPresence {
  readonly #report: (state: RoomState) => void
  #isOnline = true
  #isPresent = false
  #hears = false
  #isConnected = false
  #isOver = false

  constructor(report: (state: RoomState) => void) {
    this.#report = report
  }

  /** The visitor is in the room. */
  joined(): void {
    this.#isPresent = true
    this.#settle()
  }

  /** The visitor gets the agent's audio, or has had the time to. */
  heard(): void {
    this.#hears = true
    this.#settle()
  }

  /** The visitor is no longer in the room; `byChoice`: it left, or was removed. */
  gone(byChoice: boolean): void {
    if (!this.#isPresent) return
    this.#isPresent = false
    if (byChoice) this.#end('left')
    else this.#settle()
  }

  /** The connection of the agent with the server was lost, and its library makes another. */
  reconnecting(): void {
    this.#isOnline = false
    this.#settle()
  }

  reconnected(): void {
    this.#isOnline = true
    this.#settle()
  }

  /** The agent is out of the room: the server is gone, or the room was deleted. */
  closed(): void {
    this.#end('closed')
  }

  #settle(): void {
    if (this.#isOver) return
    const isConnected = this.#isOnline && this.#isPresent && this.#hears
    if (isConnected === this.#isConnected) return
    this.#isConnected = isConnected
    this.#report(isConnected ? 'connected' : 'disconnected')
  }

  #end(state: 'left' | 'closed'): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#report(state)
  }
}
