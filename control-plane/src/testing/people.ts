import { randomUUID } from 'node:crypto'
import type { PersonLink } from '../context.ts'
import type { PipelineApi, Received } from './pipeline-api.ts'

/** The address under which the pages of a test's API count as its own. */
export const BASE_URL = 'http://localhost:8080'

/** A person with a session: requests carry its cookie and come from a page of the server. */
export interface Person {
  readonly user_id: string
  /** `name=value`. */
  readonly cookie: string
  request(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Received>
}

/** The cookie that an answer sets, as `name=value`. */
export function cookieOf(answer: Received): string {
  return answer.headers['set-cookie']!.split(';')[0]!
}

/** The token in the fragment of a link. */
export function tokenOf(url: string): string {
  return new URLSearchParams(new URL(url).hash.slice(1)).get('token')!
}

export function personWith(api: PipelineApi, cookie: string, user_id: string): Person {
  let keys = 0
  return {
    user_id,
    cookie,
    request: (method, path, body, headers = {}) =>
      api.request(method, path, {
        key: null,
        idempotencyKey: `${user_id}-${++keys}`,
        ...(body !== undefined && { body }),
        headers: { cookie, origin: BASE_URL, ...headers },
      }),
  }
}

/** Invites a person with the admin key, and accepts. */
export async function newPerson(api: PipelineApi, email: string, role: string): Promise<Person> {
  const invited = await api.request('POST', '/api/v1/team/invitations', {
    idempotencyKey: randomUUID(),
    body: { email, role },
  })
  if (invited.status !== 201) throw new Error(invited.text)
  return signIn(api, tokenOf(invited.body.link))
}

/** Trades the token of a link for a session. */
export async function signIn(api: PipelineApi, token: string): Promise<Person> {
  const answer = await api.request('POST', '/auth/session', { key: null, body: { token } })
  if (answer.status !== 201) throw new Error(answer.text)
  return personWith(api, cookieOf(answer), answer.body.principal.id)
}

/** The last link that was delivered to this address. */
export function lastLink(api: PipelineApi, email: string): PersonLink | undefined {
  return api.platform.deliveredLinks.findLast(link => link.email === email)
}
