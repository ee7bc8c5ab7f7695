import { randomBelow, type SeededRandom } from '@parley/kernel'
import type { RawRequest } from './raw-http.ts'

/** Turns a valid request into an invalid or an unusual one. */
type Mutation = (request: RawRequest, random: SeededRandom) => RawRequest

/** Strings for bodies, ids and queries that usually do not fit. */
const ODD_STRINGS = [
  ...['', ' ', '\0', '\u{1f600}', "'; drop table parley.agents; --", '{{x}}', '../../etc/passwd', '__proto__', 'null'],
  ...['constructor', '\ud800', 'a'.repeat(300), '-1', '1e999', 'NaN', '9007199254740993', '\u202e', '%s%n', 'true'],
]
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']
const PATHS = ['%', '%zz', '%00', '%2e%2e', '..%2f..', 'a%2fb', '%ff%fe', 'x'.repeat(1100), '%F0%9F%98%80', ';a=b', '*']
const QUERIES = [
  ...['limit=0', 'limit=1e3', 'limit=99999999999999999999', 'limit=5&limit=6', 'cursor=', 'cursor=AAAA', 'cursor=%00'],
  ...['limit', '=', '&&&', '?', '%', '%zz=%', '__proto__=1', 'q=%F0%9F%98%80', 'q=%00', 'q=%25_', 'after=yesterday'],
  ...['version=-1', 'a[b]=c', `q=${'x'.repeat(6000)}`, 'cursor=eyJhIjoxfQ', 'sort=%27', 'force=maybe', 'q=%ff'],
]
const HEADERS: readonly Readonly<Record<string, string>>[] = [
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-type': 'multipart/form-data; boundary=x' },
  { 'content-type': '' },
  { 'content-encoding': 'gzip' },
  { 'idempotency-key': '' },
  { 'idempotency-key': 'k'.repeat(2000) },
  { 'idempotency-key': 'a key with spaces, and \t tabs' },
  { 'idempotency-key': 'caf\u00e9' },
  { 'x-request-id': 'mine-17' },
  { 'x-request-id': 'not visible at all' },
  { 'x-request-id': 'r'.repeat(1000) },
  { authorization: 'Bearer' },
  { authorization: 'Basic dXNlcjpwYXNz' },
  { authorization: `Bearer ${'k'.repeat(500)}` },
  { authorization: 'Bearer parley_live_\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff' },
  { accept: 'text/html' },
  { 'accept-encoding': 'br' },
  { expect: '100-continue' },
  { 'x-forwarded-for': "1.2.3.4, ', \u00e9" },
  { 'x-http-method-override': 'DELETE' },
  { range: 'bytes=0-1' },
  { 'if-none-match': '*' },
  { cookie: 'c'.repeat(9000) },
  { 'x-much': 'm'.repeat(20_000) },
]

function pick<Of>(from: readonly Of[], random: SeededRandom): Of {
  return from[randomBelow(random, from.length)]!
}

/** Random JSON with property names that the API knows and others. */
function anyJson(random: SeededRandom, depth = 0): unknown {
  switch (randomBelow(random, depth > 3 ? 5 : 7)) {
    case 0:
      return null
    case 1:
      return randomBelow(random, 2) === 0
    case 2:
      return pick([0, -1, 0.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308], random)
    case 3:
    case 4:
      return pick(ODD_STRINGS, random)
    case 5:
      return Array.from({ length: randomBelow(random, 4) }, () => anyJson(random, depth + 1))
    default:
      return Object.fromEntries(
        Array.from({ length: randomBelow(random, 5) }, () => [pick(NAMES, random), anyJson(random, depth + 1)]),
      )
  }
}

const NAMES = ['name', 'agent_id', 'template', 'edits', 'config', 'body', '__proto__', 'constructor', '', 'a/b', '\0']

const withBody = (request: RawRequest, body: RawRequest['body']): RawRequest => ({
  ...request,
  body,
  headers: { ...request.headers, 'content-type': 'application/json' },
})

const atPath = (request: RawRequest, change: (path: string) => string): RawRequest => {
  const [path = '', query] = request.target.split('?', 2)
  return { ...request, target: `${change(path)}${query === undefined ? '' : `?${query}`}` }
}

/** All mutations by name. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'random JSON': (request, random) => withBody(request, JSON.stringify(anyJson(random))),
  'random bytes': (request, random) => withBody(request, random.bytes(1 + randomBelow(random, 200))),
  'truncated body': (request, random) => {
    const text = typeof request.body === 'string' ? request.body : '{"name":"Ada"}'
    return withBody(request, text.slice(0, randomBelow(random, text.length)))
  },
  'deeply nested body': (request, random) => {
    const depth = pick([33, 100, 5000, 100_000], random)
    return withBody(request, `${'{"a":['.repeat(depth)}1${']}'.repeat(depth)}`)
  },
  'huge body': (request, random) =>
    withBody(request, JSON.stringify({ name: 'x'.repeat(pick([70_000, 1_100_000, 5_000_000], random)) })),
  'another method': (request, random) => ({ ...request, method: pick(METHODS, random) }),
  'another path': (request, random) =>
    atPath(request, path => {
      const parts = path.split('/')
      return parts.with(1 + randomBelow(random, parts.length - 1), pick(PATHS, random)).join('/')
    }),
  'longer path': (request, random) => atPath(request, path => `${path}${pick(['/', '//', '/x', '/%00', '.'], random)}`),
  'another query': (request, random) => ({
    ...request,
    target: `${request.target.split('?', 1)[0]}?${pick(QUERIES, random)}&${pick(QUERIES, random)}`,
  }),
  'other headers': (request, random) => ({ ...request, headers: { ...request.headers, ...pick(HEADERS, random) } }),
}
