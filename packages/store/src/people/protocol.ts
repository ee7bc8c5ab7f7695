import type { Role, Scope } from '@parley/contract'
import type { PresentedKey } from '../presented-key.ts'

/** Who a console session belongs to, as it was presented by its token; checked again where an effect is decided. */
export type SessionHolder = {
  readonly session_id: string
  readonly role: Role
  readonly can_dial: boolean
  /** ISO time at which the session ends, as known now. */
  readonly valid_until: string
  /** Requests per second and burst that staff set for the environment; null: the platform's. */
  readonly rate: { readonly perSecond: number; readonly burst: number } | null
} & (
  | {
      readonly user_id: string
      readonly key: null
      /** The environment that the request named; null: the organisation has no such environment. */
      readonly scope: Scope | null
    }
  /** A session that an API key was traded for. */
  | { readonly user_id: null; readonly key: PresentedKey; readonly scope: Scope }
)

/** A token by e-mail that opens a session. */
export interface LinkHolder {
  readonly kind: 'login' | 'invitation'
  /** Production of its organisation. */
  readonly scope: Scope
}

/** A member with a certain e-mail address. */
export interface MemberAddress {
  readonly user_id: string
  readonly email: string
  /** Name of the organisation. */
  readonly organisation: string
  /** Production of the organisation. */
  readonly scope: Scope
}

/** Sessions and people, looked up before their organisation is known. */
export interface PeopleAcrossTenants {
  /** The session with this token (SHA-256) in the environment that the request names; null: none, or it has ended. */
  sessionOf(tokenHash: Buffer, environment: 'production' | 'sandbox'): Promise<SessionHolder | null>
  /** Stores that the sessions were used now, to the minute. */
  touchSessions(sessionIds: readonly string[]): Promise<void>
  /** The organisation of an invitation or a login link; null: the token is unknown, used or expired. */
  linkOf(tokenHash: Buffer): Promise<LinkHolder | null>
  /** The members with this e-mail address, of every organisation, at most 20. */
  membersOf(email: string): Promise<readonly MemberAddress[]>
}
