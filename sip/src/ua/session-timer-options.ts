/** Session timers (RFC 4028); "off" asks for none, and still goes along with a peer that does. */
export type SessionTimerOptions =
  | 'off'
  | {
      /** Session interval that is asked for, seconds; default 1800. Never below `minSeS`. */
      readonly expiresS?: number
      /** The smallest interval that is taken; a smaller one is answered 422. Default and least 90. */
      readonly minSeS?: number
      /** Who should refresh where the choice is ours; default: the peer decides, or does it. */
      readonly refresher?: 'local' | 'remote'
    }
