import { describe, expect, it } from 'vitest'
import { parseBlobUrl } from './blob-url.ts'

describe('the URL of the blob store', () => {
  it('the URL of the blob store names a bucket with a prefix, or a directory', () => {
    expect(parseBlobUrl('s3://calls/eu/1?endpoint=https://store.example:9000&region=eu-1')).toEqual({
      kind: 's3',
      bucket: 'calls',
      prefix: 'eu/1/',
      endpoint: 'https://store.example:9000',
      region: 'eu-1',
    })
    expect(parseBlobUrl('s3://calls')).toEqual({
      kind: 's3',
      bucket: 'calls',
      prefix: '',
      endpoint: null,
      region: null,
    })
    expect(parseBlobUrl('file:///var/lib/parley/blobs')).toEqual({ kind: 'files', directory: '/var/lib/parley/blobs' })
  })

  it.each([
    ['nowhere', 'is no URL'],
    ['https://calls', 's3://'],
    ['s3://', 'bucket'],
    ['s3://Calls_', 'bucket'],
    ['s3://key:secret@calls', 'credentials'],
    ['s3://calls?endpont=x', 'endpont'],
    ['s3://calls?endpoint=store', 'endpoint'],
    ['s3://calls/a%20b', 'prefix'],
    ['file://host/x', 'absolute'],
  ])('%s is refused as the URL of a blob store', (url, why) => {
    expect(() => parseBlobUrl(url)).toThrow(
      expect.objectContaining({ code: 'blob_url_invalid', message: expect.stringContaining(why) }),
    )
    expect(() => parseBlobUrl(url)).toThrow(expect.not.objectContaining({ message: expect.stringContaining('secret') }))
  })
})
