import { render } from '@parley/flow'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { call, httpAction } from './actions.fixture.ts'
import { type HttpRequest, httpRequest, type UnfitRequest } from './http-request.ts'

function filled(
  fields: Readonly<Record<string, unknown>>,
  values: Readonly<Record<string, unknown>> = {},
  variables: Readonly<Record<string, string>> = {},
): HttpRequest | UnfitRequest {
  return httpRequest(httpAction(fields), values, call, text => render(text, name => variables[name]))
}

function urlOf(url: string, variables: Readonly<Record<string, string>>, fields = {}): string {
  const request = filled({ method: 'GET', url, ...fields }, {}, variables)
  return typeof request === 'string' ? request : request.url
}

describe('the body of an HTTP action', () => {
  it('the default body holds the name, the arguments and the call', () => {
    const request = filled({}, { guests: 2, note: 'José' }) as HttpRequest
    expect(JSON.parse(request.body!)).toEqual({ name: 'book_table', args: { guests: 2, note: 'José' }, call })
    expect(request.headers).toMatchObject({ 'content-type': 'application/json' })
  })

  it('the body is the bare arguments when the action asks for arguments at the root', () => {
    const request = filled({ args_at_root: true }, { guests: 2 }) as HttpRequest
    expect(request.body).toBe('{"guests":2}')
  })

  it('the body is form-encoded when the action asks for a form', () => {
    const values = { guests: 2, note: 'a b&c=d', wishes: ['window'], none: null }
    const root = filled({ body_format: 'form', args_at_root: true }, values) as HttpRequest
    expect(root.body).toBe('guests=2&note=a+b%26c%3Dd&wishes=%5B%22window%22%5D')
    expect(root.headers['content-type']).toBe('application/x-www-form-urlencoded;charset=UTF-8')
    const whole = new URLSearchParams((filled({ body_format: 'form' }, { guests: 2 }) as HttpRequest).body)
    expect([...whole.keys()]).toEqual(['name', 'args', 'call'])
    expect(JSON.parse(whole.get('args')!)).toEqual({ guests: 2 })
  })

  it.each(['GET', 'DELETE'])('a %s request has no body and sends its arguments in the query', method => {
    const request = filled({ method, url: 'https://shop.test/t?a=1' }, { guests: 2, at: { h: 9 } }) as HttpRequest
    expect(request.body).toBeUndefined()
    expect(request.url).toBe('https://shop.test/t?a=1&guests=2&at=%7B%22h%22%3A9%7D')
    expect(request.headers).not.toHaveProperty('content-type')
  })
})

describe('the headers of an HTTP action', () => {
  it('configured headers have variables filled in and override the default ones', () => {
    const request = filled(
      { headers: { 'X-Caller': '{{name}}', 'Content-Type': 'application/vnd.x+json' } },
      {},
      { name: 'Ada' },
    )
    expect((request as HttpRequest).headers).toMatchObject({
      'x-caller': 'Ada',
      'content-type': 'application/vnd.x+json',
    })
  })
})

describe('the query of an HTTP action', () => {
  it('configured query parameters have variables filled in and override arguments of the same name', () => {
    const request = filled({ method: 'GET', query: { key: '{{k}}', n: '1' } }, { n: 2, m: 3 }, { k: 'a&b=c#d' })
    expect((request as HttpRequest).url).toBe('https://shop.test/tables?n=1&m=3&key=a%26b%3Dc%23d')
  })
})

describe('variables in the URL of an HTTP action', () => {
  it.each([
    ['Ada', 'https://shop.test/u/Ada/x?q=Ada'],
    ['a b', 'https://shop.test/u/a%20b/x?q=a%20b'],
    ['a/b', 'https://shop.test/u/a%2Fb/x?q=a%2Fb'],
    ['a\\b', 'https://shop.test/u/a%5Cb/x?q=a%5Cb'],
    ['a?b#c', 'https://shop.test/u/a%3Fb%23c/x?q=a%3Fb%23c'],
    ['a&b=c', 'https://shop.test/u/a%26b%3Dc/x?q=a%26b%3Dc'],
    ['100%', 'https://shop.test/u/100%25/x?q=100%25'],
    ['%2e%2e', 'https://shop.test/u/%252e%252e/x?q=%252e%252e'],
    ['../..', 'https://shop.test/u/..%2F../x?q=..%2F..'],
    ['{{other}}', 'https://shop.test/u/%7B%7Bother%7D%7D/x?q=%7B%7Bother%7D%7D'],
    ['José', 'https://shop.test/u/Jos%C3%A9/x?q=Jos%C3%A9'],
    ['\ud800', 'https://shop.test/u/%EF%BF%BD/x?q=%EF%BF%BD'],
    ['a\r\nb\tc', 'https://shop.test/u/a%0D%0Ab%09c/x?q=a%0D%0Ab%09c'],
    ['', 'https://shop.test/u//x?q='],
  ])('the value %j fills one path segment and one query parameter', (value, url) => {
    expect(urlOf('https://shop.test/u/{{id}}/x?q={{id}}', { id: value, other: 'no' })).toBe(url)
  })

  it.each([
    ['https://shop.test/u/{{id}}', { id: '..' }],
    ['https://shop.test/u/{{id}}/x', { id: '.' }],
    ['https://shop.test/u/{{id}}/x?y', { id: '..' }],
    ['https://shop.test/u/.{{id}}/x', { id: '.' }],
    ['https://shop.test/u/%2e{{id}}/x', { id: '.' }],
    ['https://shop.test/u/{{a}}{{b}}/x', { a: '.', b: '.' }],
    ['https://shop.test/u\\{{id}}\\x', { id: '..' }],
  ])('the URL %s with %j is refused as bad_url', (url, variables) => {
    expect(urlOf(url, variables)).toBe('bad_url')
  })

  it('a literal ".." in the configured path is allowed', () => {
    expect(urlOf('https://shop.test/a/../b/{{id}}', { id: '1' })).toBe('https://shop.test/b/1')
  })

  it('a variable name may contain a slash', () => {
    const variables = { 'current_time_America/New_York': '9 am' }
    expect(urlOf('https://shop.test/t/{{current_time_America/New_York}}', variables)).toBe('https://shop.test/t/9%20am')
  })

  it('a URL that becomes too long is refused as bad_url', () => {
    expect(urlOf('https://shop.test/{{id}}', { id: 'a'.repeat(20_000) })).toBe('bad_url')
    expect(urlOf('https://shop.test/', { id: 'a'.repeat(20_000) }, { query: { q: '{{id}}' } })).toBe('bad_url')
  })

  it('no variable value changes the host, the port or the number of path segments and query parameters', () => {
    const nasty = fc.constantFrom(
      '.',
      '..',
      '/',
      '\\',
      '?',
      '#',
      '&',
      '=',
      '@',
      ':',
      '%2e',
      '%2f',
      '\t',
      '\n',
      '{{a}}',
      'x',
    )
    const value = fc.oneof(
      fc.array(fc.integer({ min: 0, max: 0xffff })).map(units => String.fromCharCode(...units)),
      fc.array(nasty).map(parts => parts.join('')),
    )
    const url = 'http://shop.test:8080/u/{{a}}/v/{{b}}{{a}}?q={{a}}&r={{b}}#{{a}}'
    const action = httpAction({ method: 'GET', url })
    fc.assert(
      fc.property(value, value, (a, b) => {
        const request = httpRequest(action, {}, call, text => render(text, name => (name === 'a' ? a : b)))
        if (typeof request === 'string') return
        const { host, username, pathname, searchParams } = new URL(request.url)
        expect([host, username]).toEqual(['shop.test:8080', ''])
        expect(pathname.split('/')).toHaveLength(5)
        expect(pathname).toMatch(/^\/u\/[^/]*\/v\/[^/]*$/)
        expect([...searchParams.entries()]).toEqual([
          ['q', a.toWellFormed()],
          ['r', b.toWellFormed()],
        ])
      }),
      { numRuns: 300 },
    )
  })
})
