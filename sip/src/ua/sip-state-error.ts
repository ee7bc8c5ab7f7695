import { ParleyError } from '@parley/kernel'

/** A command that does not fit the session's state: code "wrong_state". Nothing was sent. */
export class SipStateError extends ParleyError {
  constructor(command: string, state: string) {
    super('wrong_state', `${command} does not fit a session that is ${state}`)
  }
}
