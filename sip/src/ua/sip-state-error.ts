import { ParleyError } from '@parley/kernel'

/** A command that the session's state does not allow: code "wrong_state". Nothing was sent. */
export class SipStateError extends ParleyError {
  constructor(command: string, state: string) {
    super('wrong_state', `${command} does not fit a session that is ${state}`)
  }
}
