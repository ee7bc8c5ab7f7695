import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DiskSpace } from '../spool-capacity.ts'

/** Of the file system that a directory is on, or will be once it is made. Null: that cannot be told. Never rejects. */
export async function diskSpace(directory: string): Promise<DiskSpace | null> {
  try {
    const { bsize, blocks, bavail } = await statfs(directory)
    // Some file systems have no size to tell.
    return blocks === 0 ? null : { free: bavail * bsize, total: blocks * bsize }
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const parent = dirname(directory)
    return isMissing && parent !== directory ? diskSpace(parent) : null
  }
}
