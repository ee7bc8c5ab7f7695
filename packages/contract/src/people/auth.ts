import { text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { environmentName, role } from '../values/names.ts'
import { principalRef } from '../values/references.ts'
import { timestamp } from '../values/time.ts'
import { email } from './team.ts'

/** The token of an invitation or a login link: 43 characters of base64url. */
const linkToken = z.string().regex(/^[A-Za-z0-9_-]{43}$/, 'a token of a link')

/** A console session, as its holder sees it. */
export const session = z
  .strictObject({
    /** A member, or the API key that was traded for the session. */
    principal: principalRef,
    role,
    /** Whether it may place real phone calls. */
    can_dial: z.boolean(),
    /** Of the member; null for a session of a key. */
    email: email.nullable(),
    name: text(1, 256).nullable(),
    /** The environment of this request: that of Parley-Environment for a member, the key's for a session of a key. */
    environment: environmentName,
    created_at: timestamp,
    /** When the session ends if it is not used again. */
    expires_at: timestamp,
  })
  .meta({ id: 'Session' })

/** Not of the API's resources: they have no tool, and their answers set or clear the session's cookie. */
const auth = { role: 'viewer', params: null, query: null, tool: null, idempotency: 'none' } as const

const openSession = operation({
  ...auth,
  id: 'auth.session',
  method: 'POST',
  path: '/auth/session',
  summary: 'Trade an API key, or the token of an invitation or a login link, for a session in a cookie',
  body: z.strictObject({
    /** Absent: the API key of the Authorization header is traded. */
    token: linkToken.optional(),
    /** Name of the new member; only an invitation uses it. */
    name: text(1, 256).optional(),
  }),
  output: session,
  statuses: [201],
  refusals: {},
})

const readSession = operation({
  ...auth,
  id: 'auth.current',
  method: 'GET',
  path: '/auth/session',
  summary: 'Read the session of the cookie',
  body: null,
  output: session,
  statuses: [200],
  refusals: {},
})

const login = operation({
  ...auth,
  id: 'auth.login',
  method: 'POST',
  path: '/auth/login',
  summary:
    'Send a login link by e-mail, good for 15 minutes and once; the answer is the same for addresses without a member',
  body: z.strictObject({ email }),
  output: z.strictObject({}),
  statuses: [202],
  refusals: {},
})

const logout = operation({
  ...auth,
  id: 'auth.logout',
  method: 'POST',
  path: '/auth/logout',
  summary: 'End the session of the cookie',
  body: z.strictObject({}),
  output: z.strictObject({}),
  statuses: [200],
  refusals: {},
})

/** Signing in and out of the console, over HTTP only. */
export const authOperations = { openSession, readSession, login, logout } as const
