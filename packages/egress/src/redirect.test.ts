import { describe, expect, it } from 'vitest'
import { type Message, redirected } from './redirect.ts'
import { targetOf } from './target.ts'

function message(method: Message['method'], url = 'http://shop.test:8080/a/b?q=1'): Message {
  const headers = { authorization: 'Bearer k', 'content-type': 'application/json', 'content-language': 'en' }
  return { target: targetOf(url)!, method, headers, body: method === 'GET' ? undefined : '{}' }
}

describe('a redirect', () => {
  it.each([
    [301, 'POST', 'GET'],
    [302, 'POST', 'GET'],
    [303, 'POST', 'GET'],
    [303, 'PUT', 'GET'],
    [303, 'DELETE', 'GET'],
    [303, 'GET', 'GET'],
    [301, 'PUT', 'PUT'],
    [302, 'PATCH', 'PATCH'],
    [301, 'DELETE', 'DELETE'],
    [302, 'GET', 'GET'],
    [307, 'POST', 'POST'],
    [308, 'PUT', 'PUT'],
    [308, 'GET', 'GET'],
  ] as const)('with status %i for a %s request is followed with %s', (status, method, next) => {
    const followed = redirected(message(method), status, '/c')!
    expect([followed.method, followed.target.url.href]).toEqual([next, 'http://shop.test:8080/c'])
    const keepsBody = next === method && method !== 'GET'
    expect(followed.body).toBe(keepsBody ? '{}' : undefined)
    expect(followed.headers.authorization).toBe('Bearer k')
    if (method !== next) expect(Object.keys(followed.headers)).toEqual(['authorization'])
  })

  it.each([
    [301, 'POST'],
    [302, 'POST'],
    [303, undefined],
    [308, 'POST'],
  ] as const)('with status %i for a POST request with keepsBody is followed with %s', (status, method) => {
    const followed = redirected({ ...message('POST'), keepsBody: true }, status, '/c')
    expect([followed?.method, followed?.body]).toEqual(method === undefined ? [undefined, undefined] : ['POST', '{}'])
  })

  it.each([200, 201, 204, 300, 304, 305, 306, 309, 404, 500])('status %i is not treated as a redirect', status => {
    expect(redirected(message('GET'), status, '/c')).toBeUndefined()
  })

  it.each([
    ['c', 'http://shop.test:8080/a/c'],
    ['?r=2', 'http://shop.test:8080/a/b?r=2'],
    ['//shop.test:8080/d', 'http://shop.test:8080/d'],
    ['HTTP://SHOP.TEST:8080/', 'http://shop.test:8080/'],
  ])('a redirect to the location %s is followed because it is on the same host', (location, url) => {
    expect(redirected(message('GET'), 302, location)?.target.url.href).toBe(url)
  })

  it.each([
    undefined,
    'http://other.test:8080/',
    'http://sub.shop.test:8080/',
    'http://shop.test:8081/',
    'http://shop.test/',
    'https://shop.test:8080/',
    '//other.test:8080/',
    '\\\\other.test:8080\\',
    'http://127.0.0.1:8080/',
    'http://user@shop.test:8080/',
    'http://shop.test:8080@other.test/',
    'ftp://shop.test:8080/',
    'javascript:1',
    'http://[',
    `/${'a'.repeat(20_000)}`,
  ])('a redirect to the location %s is not followed', location => {
    expect(redirected(message('GET'), 302, location)).toBeUndefined()
  })

  it('a redirect from http to https is followed on the default ports, from https to http never', () => {
    const up = redirected(message('GET', 'http://shop.test/x'), 301, 'https://shop.test/x')
    expect([up?.target.secure, up?.target.port]).toEqual([true, 443])
    expect(redirected(message('GET', 'https://shop.test/x'), 301, 'http://shop.test/x')).toBeUndefined()
    expect(redirected(message('GET', 'http://shop.test/x'), 301, 'https://shop.test:8443/x')).toBeUndefined()
  })
})
