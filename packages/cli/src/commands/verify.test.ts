import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeKeysFile } from '../signing-keys-file.ts'
import { UsageError } from '../usage.ts'
import { verifyFile } from './verify.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-verify-'))
})
afterAll(() => rm(folder, { recursive: true }))

const key = () => ({ kty: 'OKP', crv: 'Ed25519', x: randomBytes(32).toString('base64url'), kid: 'k' }) as const

describe('parley verify', () => {
  it('a file that is no certificate is not valid, and the reason is printed', async () => {
    const home = join(folder, 'home')
    await writeKeysFile(home, [key()])
    const file = join(folder, 'certificate.json')
    for (const [text, reason] of [
      ['{', 'not JSON'],
      ['{"a":1,"a":1}', 'not written as the API'],
      ['{"a":1}', 'form of a certificate'],
    ] as const) {
      await writeFile(file, text)
      expect(await verifyFile([file], () => home)).toEqual({ exitCode: 1, text: expect.stringContaining(reason) })
    }
  })

  it('without public keys it says where they are', async () => {
    const file = join(folder, 'alone.json')
    await writeFile(file, '{}')
    await expect(verifyFile([file], () => join(folder, 'nowhere'))).rejects.toThrow('/.well-known/parley-keys.json')
    await writeFile(join(folder, 'other.json'), '[]')
    await expect(verifyFile([file, '--keys', join(folder, 'other.json')], () => folder)).rejects.toThrow(
      'no set of Ed25519 keys',
    )
  })

  it('wrong arguments show the usage', async () => {
    await expect(verifyFile([], () => folder)).rejects.toThrow(UsageError)
  })
})
