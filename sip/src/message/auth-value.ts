import type { Params } from './message.ts'

/** A challenge or credentials (RFC 3261 sections 20.7, 20.27, 20.28, 20.44). */
export interface AuthValue {
  /** As written; compare without regard to case. */
  readonly scheme: string
  /** Names lower-cased, quoted strings unquoted. Empty for a scheme that carries no name=value pairs. */
  readonly params: Params
}

/** WWW-Authenticate or Proxy-Authenticate: one line may carry several challenges. Unreadable ones are left out. */
export function parseChallenges(_value: string): AuthValue[] {
  throw new Error('being written')
}

/** Authorization or Proxy-Authorization; undefined when malformed. */
export function parseCredentials(_value: string): AuthValue | undefined {
  throw new Error('being written')
}

/** `scheme name=value, name="value"`: names in `bare` are written as tokens, all others quoted. */
export function serialiseAuthValue(_value: AuthValue, _bare: ReadonlySet<string>): string {
  throw new Error('being written')
}
