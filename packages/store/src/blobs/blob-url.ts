import type { ParleyError } from '@parley/kernel'
import { StoreError } from '../errors.ts'

/** The blob store that `BLOB_URL` names. */
type BlobPlace =
  | { readonly kind: 'files'; readonly directory: string }
  | {
      readonly kind: 's3'
      readonly bucket: string
      /** Prefix of all keys in the bucket: empty, or parts that each end in a slash. */
      readonly prefix: string
      /** Endpoint of a store other than Amazon's. */
      readonly endpoint: string | null
      /** Null: the S3 client's default. */
      readonly region: string | null
    }

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/
const PREFIX_PART = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const OPTIONS = ['endpoint', 'region']

/** `s3://bucket/prefix?endpoint=https://…&region=…`, or `file:///path`. Throws `blob_url_invalid`, naming what is wrong. */
export function parseBlobUrl(text: string): BlobPlace {
  const url = URL.parse(text)
  if (url === null) throw invalid(text, 'is no URL')
  if (url.username !== '' || url.password !== '')
    throw invalid(text, 'must not hold credentials: they come from where the client looks for them')
  if (url.protocol === 'file:') {
    if (url.host !== '' || url.pathname.length < 2) throw invalid(text, 'needs an absolute path')
    return { kind: 'files', directory: decodeURIComponent(url.pathname) }
  }
  if (url.protocol !== 's3:') throw invalid(text, 'must begin with s3:// or file://')
  if (!BUCKET.test(url.host)) throw invalid(text, 'names no bucket')
  const unknown = [...url.searchParams.keys()].find(name => !OPTIONS.includes(name))
  if (unknown !== undefined) throw invalid(text, `has the option ${unknown}; there are ${OPTIONS.join(' and ')}`)
  const parts = url.pathname.split('/').filter(part => part !== '')
  if (!parts.every(part => PREFIX_PART.test(part)))
    throw invalid(text, 'has a prefix of other than letters, digits, . _ -')
  const endpoint = url.searchParams.get('endpoint')
  if (endpoint !== null && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? ''))
    throw invalid(text, 'has an endpoint that is no http or https URL')
  return {
    kind: 's3',
    bucket: url.host,
    prefix: parts.map(part => `${part}/`).join(''),
    endpoint,
    region: url.searchParams.get('region'),
  }
}

function invalid(text: string, why: string): ParleyError {
  const shown = text.replace(/\/\/[^/@]*@/, '//…@')
  return new StoreError('blob_url_invalid', `the address of the blobs, ${shown.slice(0, 200)}, ${why}`)
}
