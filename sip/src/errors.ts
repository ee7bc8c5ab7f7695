import { errorsOf } from '@parley/kernel'

/** The errors of this package. A code is stable: API, logs and timelines show it. */
export const SipError = errorsOf({
  bad_certificate: { retryable: false, text: 'The certificate, the key or the CA file cannot be used.' },
  bad_field: { retryable: false, text: 'A value does not fit the grammar of its header; nothing was sent.' },
  bad_name: { retryable: false, text: 'A certificate cannot be issued for this name or address.' },
  bad_options: { retryable: false, text: 'The options of the transport contradict each other.' },
  dns_busy: { retryable: true, text: 'Too many DNS queries are in progress.' },
  dns_timeout: { retryable: true, text: 'The DNS did not answer in time.' },
  draining: { retryable: false, text: 'The user agent is closing and starts no new calls.' },
  header_injection: { retryable: false, text: 'A header value contains CR, LF or NUL; nothing was sent.' },
  listen_failed: { retryable: true, text: 'An address or port to listen on is not available.' },
  too_many_sessions: { retryable: true, text: 'The limit of concurrent calls is reached.' },
  wrong_state: { retryable: false, text: 'The state of the session does not allow this command; nothing was sent.' },
})

/** A command that the session's state does not allow: code "wrong_state". Nothing was sent. */
export class SipStateError extends SipError {
  constructor(command: string, state: string) {
    super('wrong_state', `${command} is not allowed in a session that is ${state}`)
    this.name = SipStateError.name
  }
}

/**
 * A message that must not be written. Codes: "header_injection" (CR, LF or NUL in something that reaches a header),
 * "bad_field" (a value that its header's grammar cannot carry: an empty host, a method that is no token, …).
 */
export class SipMessageError extends SipError {
  constructor(code: 'header_injection' | 'bad_field', message: string) {
    super(code, message)
    this.name = SipMessageError.name
  }
}
