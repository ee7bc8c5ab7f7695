import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DiskSpace } from '../spool-capacity.ts'

/** Space of the file system that holds a directory, or will hold it once it is created. Null: unknown. Never rejects. */
export async function diskSpace(directory: string): Promise<DiskSpace | null> {
  try {
    const { bsize, blocks, bavail } = await statfs(directory)
    // Some file systems report no size.
    return blocks === 0 ? null : { free: bavail * bsize, total: blocks * bsize }
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const parent = dirname(directory)
    return isMissing && parent !== directory ? diskSpace(parent) : null
  }
}
