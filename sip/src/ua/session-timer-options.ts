/** Session timers (RFC 4028); "off" requests none, but still honours those of a peer. */
export type SessionTimerOptions =
  | 'off'
  | {
      /** Requested session interval in seconds; default 1800. Never below `minSeS`. */
      readonly expiresS?: number
      /** Smallest accepted interval in seconds; a smaller one is answered 422. Default and minimum 90. */
      readonly minSeS?: number
      /** Who should refresh where the choice is ours; default: the peer decides, or does it. */
      readonly refresher?: 'local' | 'remote'
    }
