import { type PrincipalRef, Refusal, type Scope, type session } from '@parley/contract'
import { TokenBuckets } from '@parley/kernel'
import {
  acceptInvitation,
  type Database,
  deleteSession,
  insertLoginLink,
  insertSession,
  lockPresented,
  type MemberRow,
  memberOf,
  newPersonToken,
  type PersonToken,
  personTokenHash,
  type Queries,
  readSession,
  takeLoginLink,
  writeAudit,
} from '@parley/store'
import type { z } from 'zod'
import type { Platform } from '../context.ts'
import { type AuthenticatedClient, noLongerValid } from '../pipeline/authenticator.ts'
import { linkUrl } from './person-links.ts'

type Session = z.input<typeof session>

/** How long a login link is good. */
const LOGIN_LINK_MS = 15 * 60_000
/** Requests for a login link for one address, whether or not it belongs to a member. */
const PER_EMAIL = { perSecond: 1 / 180, burst: 5 }
const MAX_EMAILS = 50_000
/** Requests for login links that are worked on at once; the others wait. */
const MAX_WAITING = 200

interface SignInOptions {
  readonly database: Pick<Database, 'transaction' | 'within' | 'people'>
  readonly platform: Pick<Platform, 'randomBytes' | 'now' | 'baseUrl' | 'links'>
  /** Receives the errors of requests for login links, which were answered already. */
  readonly onFailed: (error: unknown) => void
}

/** A session that was just opened. */
export interface OpenedSession {
  readonly body: Session
  /** The value of its cookie. */
  readonly token: string
}

/** Opens and ends console sessions. */
export class SignIn {
  readonly #options: SignInOptions
  readonly #emails = new TokenBuckets(MAX_EMAILS)
  #waiting = 0

  constructor(options: SignInOptions) {
    this.#options = options
  }

  /** Trades the API key of a client for a session with its rights. Throws the refusal `unauthenticated`. */
  async ofKey(client: AuthenticatedClient, requestId: string): Promise<OpenedSession> {
    const { principal, presented } = client
    const { key } = presented
    if (key === null) throw noLongerValid(presented)
    const made = this.#newToken()
    const row = await this.#options.database.transaction(principal.scope, async tx => {
      if ((await lockPresented(tx, principal.scope, presented, principal.role)) === null) throw noLongerValid(presented)
      const opened = await insertSession(tx, principal.scope, { key }, made)
      await auditSession(tx, principal.scope, principal.ref, 'auth.session', opened.session_id, requestId)
      return opened
    })
    const { role, canDial, ref, scope } = principal
    const member = { email: null, name: null }
    const body = { ...sessionBody(ref, scope, row), role, can_dial: canDial, ...member }
    return { body, token: made.token }
  }

  /**
   * Trades the token of a link for a session. An invitation makes its person a member, with `name`. Throws the refusal
   * `unauthenticated`.
   */
  async byLink(token: string, name: string | null, requestId: string): Promise<OpenedSession> {
    const { database } = this.#options
    const hash = personTokenHash(token)
    const link = await database.people.linkOf(hash)
    if (link === null) throw linkRefused()
    const { scope } = link
    const made = this.#newToken()
    return database.transaction(scope, async tx => {
      const member =
        link.kind === 'login' ? await takeLoginLink(tx, scope, hash) : await acceptInvitation(tx, scope, hash, name)
      if (member === null) throw linkRefused()
      const row = await insertSession(tx, scope, { user_id: member.user_id }, made)
      const ref = memberRef(scope, member)
      await auditSession(tx, scope, ref, 'auth.session', row.session_id, requestId)
      return { body: { ...sessionBody(ref, scope, row), ...ofMember(member) }, token: made.token }
    })
  }

  /** Describes the session of a client. Throws the refusal `unauthenticated`. */
  async current({ principal, presented }: AuthenticatedClient): Promise<Session> {
    const { scope, ref, role, canDial } = principal
    const { session_id, user_id } = presented
    if (session_id === null)
      throw new Refusal('unauthenticated', 'the request has no session: POST /auth/session opens one')
    const db = this.#options.database.within(scope)
    const row = await readSession(db, scope, session_id)
    if (row === null) throw noLongerValid(presented)
    const body = { ...sessionBody(ref, scope, row), role, can_dial: canDial, email: null, name: null }
    if (user_id === null) return body
    const member = await memberOf(db, scope, user_id)
    if (member === null) throw noLongerValid(presented)
    return { ...body, ...ofMember(member) }
  }

  /** Ends the session of a client; returns its id, null if the client has none. */
  async end({ principal, presented }: AuthenticatedClient, requestId: string): Promise<string | null> {
    const { session_id } = presented
    if (session_id === null) return null
    await this.#options.database.transaction(principal.scope, async tx => {
      await deleteSession(tx, principal.scope, session_id)
      await auditSession(tx, principal.scope, principal.ref, 'auth.logout', session_id, requestId)
    })
    return session_id
  }

  /**
   * Sends a login link to every member with this address. Returns at once, and in the same time for every address, so that
   * nobody learns who is a member. Throws the refusal `rate_limited` when too many requests wait, whatever their address.
   */
  sendLinks(email: string): void {
    if (this.#waiting >= MAX_WAITING)
      throw new Refusal('rate_limited', 'too many people ask for login links: try again in 5 s', {
        reason: 'request_rate',
        details: { retry_after_seconds: 5 },
      })
    if (!this.#emails.take(email.toLowerCase(), PER_EMAIL, this.#options.platform.now())) return
    this.#waiting += 1
    this.#sendLinks(email)
      .catch(error => this.#options.onFailed(error))
      .finally(() => {
        this.#waiting -= 1
      })
  }

  async #sendLinks(email: string): Promise<void> {
    const { database, platform } = this.#options
    for (const { scope, user_id, organisation, ...member } of await database.people.membersOf(email)) {
      const made = this.#newToken()
      const isStored = await database.transaction(scope, tx => insertLoginLink(tx, scope, user_id, made, LOGIN_LINK_MS))
      if (!isStored) continue
      platform.links.deliver({
        kind: 'login',
        email: member.email,
        organisation,
        url: linkUrl(platform.baseUrl(), made.token),
        expires_at: new Date(platform.now() + LOGIN_LINK_MS).toISOString(),
      })
    }
  }

  #newToken(): PersonToken {
    return newPersonToken({ bytes: this.#options.platform.randomBytes })
  }
}

function linkRefused(): Refusal {
  return new Refusal('unauthenticated', 'the link is unknown, used or expired: ask for another one')
}

function memberRef({ owner_id, environment }: Scope, { user_id }: MemberRow): PrincipalRef {
  return { owner_id, environment, kind: 'user', id: user_id }
}

function ofMember({ role, email, name }: MemberRow) {
  return { role, can_dial: role === 'admin', email, name }
}

function sessionBody(
  principal: PrincipalRef,
  { environment }: Scope,
  { created_at, expires_at }: { readonly created_at: string; readonly expires_at: string },
) {
  const named = environment === 'sandbox' ? ('sandbox' as const) : ('production' as const)
  return { principal, environment: named, created_at, expires_at }
}

function auditSession(
  tx: Queries,
  scope: Scope,
  principal: PrincipalRef,
  action: 'auth.session' | 'auth.logout',
  sessionId: string,
  requestId: string,
): Promise<void> {
  const resource = { kind: 'operation', id: `sessions/${sessionId}` }
  return writeAudit(tx, scope, { principal, action, resource, outcome: 'allowed', request_id: requestId })
}
