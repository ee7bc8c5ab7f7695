import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const record = z.object({
  /** Port of the example server. */
  port: z.number().int().nullable().default(null),
  /** By agent: the draft revision that seeding wrote last, and the SHA-256 of its content. */
  agents: z
    .record(z.string(), z.object({ draft_id: z.string(), revision: z.number().int(), digest: z.string() }))
    .default({}),
  /** By agent: the test suite that seeding created. */
  suites: z.record(z.string(), z.string()).default({}),
  /** By secret: the version that seeding created, and the SHA-256 of its value. */
  secrets: z.record(z.string(), z.object({ version: z.string(), digest: z.string() })).default({}),
})

/** What seeding created. A later start compares it to find changes by users. */
export type SeedRecord = z.output<typeof record>

export async function readSeedRecord(home: string): Promise<SeedRecord> {
  try {
    return record.parse(JSON.parse(await readFile(join(home, 'seed.json'), 'utf8')))
  } catch {
    return record.parse({})
  }
}

export async function writeSeedRecord(home: string, seeded: SeedRecord): Promise<void> {
  const temporary = join(home, 'seed.json.new')
  await writeFile(temporary, `${JSON.stringify(seeded, null, 2)}\n`, { mode: 0o600 })
  await rename(temporary, join(home, 'seed.json'))
}
