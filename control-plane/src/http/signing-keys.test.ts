import { randomBytes } from 'node:crypto'
import { addSigningKey, ensureSigningKey, MasterKeySealer } from '@parley/store'
import { expect, it, onTestFinished } from 'vitest'
import { pipelineApi } from '../testing/pipeline-api.ts'

const PATH = '/.well-known/parley-keys.json'

it('everybody may read the public keys of certificates, and a rotation keeps the older ones', async () => {
  const api = await pipelineApi({})
  onTestFinished(() => api.close())
  const sealer = new MasterKeySealer(new Map([[1, randomBytes(32)]]))
  const { url } = api.db.owner
  await Promise.all([ensureSigningKey(url, sealer), ensureSigningKey(url, sealer)])
  const first = await api.request('GET', PATH, { key: null })
  expect([first.status, first.headers['content-type']]).toEqual([200, 'application/jwk-set+json; charset=utf-8'])
  const { keys } = JSON.parse(first.text)
  expect(keys).toEqual([
    {
      kty: 'OKP',
      crv: 'Ed25519',
      use: 'sig',
      alg: 'EdDSA',
      x: expect.stringMatching(/^[\w-]{43}$/),
      kid: expect.any(String),
    },
  ])
  const { version, key } = await addSigningKey(url, sealer)
  expect(version).toBe(2)
  const second = JSON.parse((await api.request('GET', PATH, { key: null })).text)
  expect(second.keys.map(({ kid }: { kid: string }) => kid)).toEqual([key.kid, keys[0].kid])
})
