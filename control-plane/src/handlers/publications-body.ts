import type { publication } from '@parley/contract'
import type { PublicationRow } from '@parley/store'
import type { z } from 'zod'

/** A publication as an item of a list. */
export function publicationBody(row: PublicationRow): z.input<typeof publication> {
  const { agent_id, version, digest, published_by, plan_schema_version, channels, languages } = row
  const { source_kind, published_at, is_head, test } = row
  return {
    ref: { agent_id, version, digest },
    plan_schema_version,
    channels,
    languages,
    source_kind,
    published_at,
    published_by,
    is_head,
    test,
  }
}
