import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readSettings } from '../environment.ts'
import { adviceFor, installSpeech, progressOf, removeSpeech, WHAT_IS_INSTALLED } from './install-speech.ts'
import { findInstallation, REQUIREMENTS_FILE, recordInstallation, speechDirectory } from './installation.ts'
import { startLocalSpeech } from './local-speech.ts'

async function temporaryHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'parley-speech.'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  return home
}

/** A program in place of Python that answers as the given shell script does. */
async function program(home: string, script: string): Promise<string> {
  const path = join(home, 'python-stand-in')
  await writeFile(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return path
}

describe('parley speech install', () => {
  it('parley speech install pins every package by its hash', async () => {
    const lines = (await readFile(REQUIREMENTS_FILE, 'utf8')).replaceAll('\\\n', ' ').split('\n')
    const packages = lines.filter(line => /^[a-z]/.test(line))
    expect(packages.map(line => line.split(' ')[0])).toEqual(
      expect.arrayContaining(['moonshine-voice==0.0.73', 'hibari-tts==0.2.1']),
    )
    for (const line of packages) expect(line).toMatch(/^[a-z0-9-]+==\S+ .*--hash=sha256:[0-9a-f]{64}/)
  })

  it('parley speech install says before it begins which packages it installs, their licences, that they know English only, and how large they are', async () => {
    const told = WHAT_IS_INSTALLED.join('\n')
    const pinned = await readFile(REQUIREMENTS_FILE, 'utf8')
    const named = [...told.matchAll(/package (\S+) ([\d.]+)\)/g)].map(([, name, version]) => `${name}==${version}`)
    expect(named).toHaveLength(2)
    for (const name of named) expect(pinned).toContain(`${name} `)
    expect(told).toMatch(/English only.*MIT License.*Apache License 2\.0.*120 MB of downloads, 320 MB of disk/s)
  })

  it('an installation counts when it has finished, and until the pinned packages change', async () => {
    const home = await temporaryHome()
    expect(await findInstallation(home)).toBeNull()
    await expect(recordInstallation(home)).rejects.toThrow('ENOENT')
    const python = await program(home, 'echo 3 11; exit 0')
    const lines: string[] = []
    // The stand-in makes no environment: there is no pip in it.
    await expect(installSpeech({ home, python, printLine: line => lines.push(line) })).rejects.toThrow(
      /pip failed|ENOENT/,
    )
    expect(await findInstallation(home)).toBeNull()
    await recordInstallation(home)
    expect(await findInstallation(home)).toMatchObject({ isCurrent: true })
    await installSpeech({ home, python, printLine: line => lines.push(line) })
    expect(lines.at(-1)).toBe('It is installed already.')

    await writeFile(join(speechDirectory(home), 'installed.json'), '{"requirements":"another"}')
    expect(await findInstallation(home)).toMatchObject({ isCurrent: false })
    const settings = readSettings({ PARLEY_HOME: home })
    const local = await startLocalSpeech(settings, () => {})
    expect([local.settings, local.line]).toEqual([settings, expect.stringContaining('npx parley speech install')])
    await removeSpeech(home)
    expect(await findInstallation(home)).toBeNull()
  })

  it.each([
    ['echo 3 10', 'Python 3.10: Python 3.11 or later is needed'],
    ['echo missing >&2; exit 3', 'does not run (missing): install Python'],
    ['[ "$1" = -c ] && echo 3 12 && exit 0; echo "ensurepip is not available" >&2; exit 1', 'package python3-venv'],
  ])('a Python that cannot be used is refused with what to do: %s', async (script, text) => {
    const home = await temporaryHome()
    const python = await program(home, script)
    await expect(installSpeech({ home, python, printLine: () => {} })).rejects.toThrow(text)
  })

  it('parley speech install prints one line for each download', () => {
    expect(progressOf('  Downloading hibari_tts-0.2.1-py3-none-any.whl (14.0 MB)')).toBe(
      '  downloading  hibari_tts-0.2.1-py3-none-any.whl  14.0 MB',
    )
    expect(progressOf('  Using cached hibari_tts-0.2.1-py3-none-any.whl (14.0 MB)')).toContain('already here')
    expect(progressOf('  Downloading hibari_tts-0.2.1-py3-none-any.whl.metadata (15 kB)')).toBeNull()
    expect(progressOf('Collecting numpy==2.4.6')).toBeNull()
  })

  it.each([
    ['THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE', 'its hash differs'],
    ['OSError: [Errno 28] No space left on device', 'disk is full'],
    ['NewConnectionError: Failed to establish a new connection', 'not reachable'],
    ['ERROR: No matching distribution found for moonshine-voice==0.0.73', 'no package for this machine'],
    ['something else', 'pip failed (something else): run the command again; it continues'],
  ])('an error of pip says what to do: %s', (errors, text) => {
    expect(adviceFor(errors)).toContain(text)
  })
})
