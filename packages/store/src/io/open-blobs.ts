import { parseBlobUrl } from '../blobs/blob-url.ts'
import type { Blobs } from '../blobs/blobs.ts'
import { openFileBlobs } from './blob-files.ts'

/** Opens the blob store at `BLOB_URL`. Throws `blob_url_invalid`, `blobs_unavailable`. */
export async function openBlobs(url: string): Promise<Blobs> {
  const place = parseBlobUrl(url)
  if (place.kind === 'files') return openFileBlobs({ directory: place.directory })
  // Loaded only when used: it is larger than everything else that a process loads.
  const { openS3Blobs } = await import('./blob-s3.ts')
  return openS3Blobs(place)
}
