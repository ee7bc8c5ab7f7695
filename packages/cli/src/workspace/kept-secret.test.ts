import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keptSecret } from './kept-secret.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-home-'))
})
afterEach(() => rm(home, { recursive: true }))

describe('a secret kept in the home', () => {
  it('a stored secret is the same at every start, readable by its owner only, and different per name', async () => {
    const secret = await keptSecret(home, 'one')
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(await keptSecret(home, 'one')).toBe(secret)
    expect(await keptSecret(home, 'two')).not.toBe(secret)
    expect((await stat(join(home, 'one'))).mode & 0o777).toBe(0o600)
  })

  it('processes that create the secret at the same time agree on one', async () => {
    const secrets = await Promise.all(Array.from({ length: 20 }, () => keptSecret(home, 'one')))
    expect(new Set(secrets).size).toBe(1)
    expect(await readdir(home)).toEqual(['one'])
  })

  it.each(['', 'short', 'x'.repeat(200)])(
    'a secret is generated again if its file has the invalid content "%s"',
    async torn => {
      await writeFile(join(home, 'one'), torn)
      const secret = await keptSecret(home, 'one')
      expect(await keptSecret(home, 'one')).toBe(secret)
    },
  )
})
