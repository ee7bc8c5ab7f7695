import type { ParleyClient } from '@parley/client'

export type Environment = 'production' | 'sandbox'

/** A session of the workspace, as `GET /auth/session` answers it. */
interface WorkspaceSession {
  readonly principal: { readonly kind: 'user' | 'api_key' | 'system' }
  readonly role: 'viewer' | 'member' | 'admin'
  /** Of a person; null: the session of an API key. */
  readonly email: string | null
  readonly environment: Environment
}

/** How requests are authenticated: by the cookie of a session, or by a key that the server took for no session. */
export type SignedIn =
  | { readonly kind: 'session'; readonly session: WorkspaceSession }
  | { readonly kind: 'key'; readonly key: string }

const KEY = 'parley.key'
const ENVIRONMENT = 'parley.environment'
const SESSION = '/auth/session'

/** A server that refused, with its status. */
export class SignInFault extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.name = 'SignInFault'
    this.status = status
  }
}

/**
 * Signs in with what the browser has: a key in the fragment of the address (`/console#key=…`, as `npm start` prints it), which is
 * removed from the address, or the cookie of a session, or the key of this tab. Null: nothing.
 */
export async function signedIn(): Promise<SignedIn | null> {
  const given = new URLSearchParams(window.location.hash.slice(1)).get('key')
  if (given !== null) {
    window.history.replaceState(null, '', `${window.location.pathname}${window.location.search}`)
    return signInWithKey(given).catch(() => null)
  }
  const answer = await fetch(SESSION, { headers: environmentHeader() })
  if (answer.ok) return { kind: 'session', session: (await answer.json()) as WorkspaceSession }
  const key = sessionStorage.getItem(KEY)
  return key === null ? null : { kind: 'key', key }
}

/**
 * Trades a key for a session, whose cookie no script can read. A server that is reached by a name that it does not know refuses
 * sessions: then the key stays in this tab. Throws `SignInFault`.
 */
export async function signInWithKey(key: string): Promise<SignedIn> {
  const authorization = headerOf(key)
  const answer = await fetch(SESSION, { method: 'POST', ...asJson({}), headers: { ...authorization, ...JSON_BODY } })
  if (answer.ok) {
    sessionStorage.removeItem(KEY)
    return { kind: 'session', session: (await answer.json()) as WorkspaceSession }
  }
  if (answer.status !== 403) throw await faultOf(answer)
  const known = await fetch('/api/v1/environments', { headers: authorization })
  if (!known.ok) throw await faultOf(known)
  sessionStorage.setItem(KEY, key)
  return { kind: 'key', key }
}

/** Has a login link sent, if the address belongs to a member. Throws `SignInFault`. */
export async function sendLoginLink(email: string): Promise<void> {
  const answer = await fetch('/auth/login', { method: 'POST', ...asJson({ email }) })
  if (!answer.ok) throw await faultOf(answer)
}

export async function signOut(how: SignedIn): Promise<void> {
  sessionStorage.removeItem(KEY)
  if (how.kind === 'session') await fetch('/auth/logout', { method: 'POST', ...asJson({}) })
}

/** The environment that a person chose in this tab. */
export function chosenEnvironment(): Environment {
  return sessionStorage.getItem(ENVIRONMENT) === 'sandbox' ? 'sandbox' : 'production'
}

export function chooseEnvironment(environment: Environment): void {
  sessionStorage.setItem(ENVIRONMENT, environment)
}

/** A request as the client sends it; a session's carries the chosen environment. */
export function fetchFor(how: SignedIn): typeof fetch {
  if (how.kind === 'key') return (input, init) => fetch(input, init)
  return (input, init) => fetch(input, { ...init, headers: { ...(init?.headers as object), ...environmentHeader() } })
}

/** Of the client: the cookie authenticates where there is no key. */
export function keyOf(how: SignedIn): ConstructorParameters<typeof ParleyClient>[0]['key'] {
  return how.kind === 'key' ? how.key : null
}

const JSON_BODY = { 'content-type': 'application/json' }
const asJson = (body: unknown) => ({ headers: JSON_BODY, body: JSON.stringify(body) })
const environmentHeader = () => ({ 'parley-environment': chosenEnvironment() })

function headerOf(key: string) {
  // Other characters cannot be in a header; the browser's error for them names no reason.
  if (!/^[\x21-\x7e]{1,512}$/.test(key)) throw new SignInFault(401, 'not a key')
  return { authorization: `Bearer ${key}` }
}

async function faultOf(answer: Response): Promise<SignInFault> {
  const body = (await answer.json().catch(() => null)) as { error?: { message?: string } } | null
  return new SignInFault(answer.status, body?.error?.message ?? `HTTP ${answer.status}`)
}
