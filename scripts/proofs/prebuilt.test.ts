import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { faultsOf, readManifest } from './prebuilt.ts'

const root = join(import.meta.dirname, '..', '..')
const hasBinary = process.platform === 'linux' && (process.arch === 'x64' || process.arch === 'arm64')

/** Builds the addon of a copy of the sources where no compiler is found; `change` comes before. Returns what it says and the addon's bytes. */
function buildWithoutCompiler(change: (copy: string) => void): {
  readonly said: string
  readonly addon: Buffer | null
} {
  const copy = mkdtempSync(join(tmpdir(), 'parley-prebuilt-'))
  try {
    for (const part of ['scripts/native-addon.mjs', 'media/native', 'media/prebuilt'])
      cpSync(join(root, part), join(copy, part), { recursive: true })
    rmSync(join(copy, 'media/native/build'), { recursive: true, force: true })
    change(copy)
    const code = `import { buildNativeAddon } from ${JSON.stringify(join(copy, 'scripts/native-addon.mjs'))}
      console.log(buildNativeAddon(process.execPath))`
    const env = { ...process.env, PATH: '/nowhere' }
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { env, encoding: 'utf8' })
    const made = join(copy, 'media/native/build/media.node')
    return { said: stdout, addon: existsSync(made) ? readFileSync(made) : null }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

describe('the prebuilt native layer', () => {
  it('the binaries of media/prebuilt were built of the sources as they are (otherwise: npm run prebuild-addon)', () => {
    expect(faultsOf(readManifest())).toEqual([])
  })

  it.skipIf(!hasBinary)('a machine without a compiler uses the binary for its processor', () => {
    const { said, addon } = buildWithoutCompiler(() => {})
    expect(said).toContain('the prebuilt native packet I/O is used')
    const { file } = readManifest().binaries[process.arch as 'x64']
    expect(addon?.equals(readFileSync(join(root, 'media/prebuilt', file)))).toBe(true)
  })

  it('a binary of other sources, or with other bytes, is not used', () => {
    const changes = ['media/native/voice.cc', 'media/prebuilt/linux-x64.node', 'media/prebuilt/linux-arm64.node']
    const portable = changes.slice(0, hasBinary && process.arch === 'x64' ? 2 : 1)
    for (const changed of portable) {
      const { said, addon } = buildWithoutCompiler(copy => appendFileSync(join(copy, changed), ' '))
      expect(said).toContain('packets take the portable layer')
      expect(addon).toBeNull()
    }
  })
})
