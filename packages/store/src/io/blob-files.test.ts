import { mkdir, mkdtemp, readdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Blobs } from '../blobs/blobs.ts'
import { blobConformance, keysOf } from '../blobs/conformance.ts'
import { openFileBlobs } from './blob-files.ts'

const temporary = () => mkdtemp(join(tmpdir(), 'parley-blobs-'))

blobConformance('files', async () => {
  const directory = await temporary()
  const blobs = await openFileBlobs({ directory, maxBytes: 2 ** 20 })
  return { blobs, close: () => rm(directory, { recursive: true, force: true }) }
})

describe('a directory of blobs', () => {
  let home: string
  let directory: string
  let blobs: Blobs
  beforeEach(async () => {
    home = await temporary()
    directory = join(home, 'blobs')
    blobs = await openFileBlobs({ directory })
  })
  afterEach(() => rm(home, { recursive: true, force: true }))

  it('files and directories of blobs are readable by their user alone', async () => {
    await blobs.put('recordings/1', Buffer.from('private'))
    expect((await stat(directory)).mode & 0o777).toBe(0o700)
    expect((await stat(join(directory, 'recordings'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(directory, 'recordings', '1'))).mode & 0o777).toBe(0o600)
  })

  it('a directory of blobs follows no symbolic link, as a file or as part of a path', async () => {
    await mkdir(join(home, 'elsewhere'))
    await writeFile(join(home, 'elsewhere', 'secret'), 'not a blob')
    await symlink(join(home, 'elsewhere'), join(directory, 'way'))
    await symlink(join(home, 'elsewhere', 'secret'), join(directory, 'file'))
    for (const key of ['way/secret', 'file']) {
      expect(await blobs.get(key)).toBeNull()
      expect(await blobs.size(key)).toBeNull()
      expect(await blobs.delete(key)).toBe(false)
    }
    await expect(blobs.put('way/new', Buffer.from('x'))).rejects.toMatchObject({ code: 'blob_key_invalid' })
    expect(await keysOf(blobs, '')).toEqual([])
    expect(await readdir(join(home, 'elsewhere'))).toEqual(['secret'])
  })

  it('incomplete writes are removed from a directory of blobs, also those of a process that died', async () => {
    const incoming = join(directory, '.incoming')
    await writeFile(join(incoming, 'of-yesterday'), 'half')
    await writeFile(join(incoming, 'of-now'), 'half')
    const longAgo = new Date(Date.now() - 25 * 3_600_000)
    await utimes(join(incoming, 'of-yesterday'), longAgo, longAgo)
    const again = await openFileBlobs({ directory })
    expect(await readdir(incoming)).toEqual(['of-now'])
    const endless = (async function* () {
      for (;;) yield Buffer.alloc(2 ** 16)
    })()
    const small = await openFileBlobs({ directory, maxBytes: 2 ** 18 })
    await expect(small.put('endless', endless)).rejects.toMatchObject({ code: 'blob_too_large' })
    expect(await readdir(incoming)).toEqual(['of-now'])
    expect(await keysOf(again, '')).toEqual([])
  })

  it('deleting the last blob of a directory removes the directory', async () => {
    await blobs.put('recordings/r1/0', Buffer.from('x'))
    await blobs.put('recordings/r2/0', Buffer.from('x'))
    await blobs.delete('recordings/r1/0')
    expect(await readdir(join(directory, 'recordings'))).toEqual(['r2'])
    await blobs.delete('recordings/r2/0')
    expect(await readdir(directory)).toEqual(['.incoming'])
  })

  it('a directory of blobs that cannot be used names its path and the cause', async () => {
    await rm(directory, { recursive: true })
    await expect(blobs.put('a', Buffer.from('x'))).rejects.toMatchObject({
      code: 'blobs_unavailable',
      retryable: true,
      message: expect.stringContaining('ENOENT'),
    })
    await writeFile(join(home, 'file'), '')
    await expect(openFileBlobs({ directory: join(home, 'file', 'below') })).rejects.toMatchObject({
      code: 'blobs_unavailable',
    })
  })
})
