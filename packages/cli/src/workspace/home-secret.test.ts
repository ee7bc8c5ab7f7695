import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { homeSecret } from './home-secret.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'parley-home-'))
})
afterEach(() => rm(home, { recursive: true }))

describe('a secret in a file of the home', () => {
  it('a stored secret is the same at every start, readable by its owner only, and different per name', async () => {
    const secret = await homeSecret(home, 'one')
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect(await homeSecret(home, 'one')).toBe(secret)
    expect(await homeSecret(home, 'two')).not.toBe(secret)
    expect((await stat(join(home, 'one'))).mode & 0o777).toBe(0o600)
  })

  it('processes that create the secret at the same time agree on one', async () => {
    const secrets = await Promise.all(Array.from({ length: 20 }, () => homeSecret(home, 'one')))
    expect(new Set(secrets).size).toBe(1)
    expect(await readdir(home)).toEqual(['one'])
  })

  it.each(['', 'short', 'x'.repeat(200)])(
    'a secret is generated again if its file has the invalid content "%s"',
    async content => {
      await writeFile(join(home, 'one'), content)
      const secret = await homeSecret(home, 'one')
      expect(await homeSecret(home, 'one')).toBe(secret)
    },
  )
})
