import { describe, expect, it } from 'vitest'
import { algorithmNamed, digestResponse } from './digest.ts'

describe('digest response values', () => {
  it('the digest of the example in RFC 2617 section 3.5 is computed', () => {
    const response = digestResponse({
      algorithm: 'MD5',
      username: 'Mufasa',
      realm: 'testrealm@host.com',
      password: 'Circle Of Life',
      nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093',
      method: 'GET',
      uri: '/dir/index.html',
      qop: { nonceCount: '00000001', clientNonce: '0a4f113b' },
    })
    expect(response).toBe('6629fae49393a05397450978507c4ef1')
  })

  it.each([
    ['MD5', '8ca523f5e9506fed4657c9700eebdbec'],
    ['SHA-256', '753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1'],
  ] as const)('RFC 7616 section 3.9.1, %s', (algorithm, expected) => {
    const response = digestResponse({
      algorithm,
      username: 'Mufasa',
      realm: 'http-auth@example.org',
      password: 'Circle of Life',
      nonce: '7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v',
      method: 'GET',
      uri: '/dir/index.html',
      qop: { nonceCount: '00000001', clientNonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ' },
    })
    expect(response).toBe(expected)
  })

  it('RFC 2069 section 2.4 (errata 749), without qop', () => {
    const response = digestResponse({
      algorithm: 'MD5',
      username: 'Mufasa',
      realm: 'testrealm@host.com',
      password: 'CircleOfLife',
      nonce: 'dcd98b7102dd2f0e8b11d0f600bfb0c093',
      method: 'GET',
      uri: '/dir/index.html',
      qop: undefined,
    })
    expect(response).toBe('1949323746fe6a43ef61f9606e7febea')
  })

  it('a missing algorithm means MD5, and session variants are not supported', () => {
    expect(
      [undefined, 'md5', 'SHA-256', 'sha-256', 'MD5-sess', 'SHA-512-256'].map(name => algorithmNamed(name)),
    ).toEqual(['MD5', 'MD5', 'SHA-256', 'SHA-256', undefined, undefined])
  })
})
