import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ParleyClient } from '@parley/client'
import { z } from 'zod'
import type { ClientSettings } from '../environment.ts'

const demoFile = z.object({ api: z.string().nullable(), key: z.string().nullable() })

/** A client for `PARLEY_API` with the key `PARLEY_KEY`. If one is not set, it is taken from the `demo.json` of a running `npm start`. */
export async function clientOf({ home, api, key }: ClientSettings): Promise<ParleyClient> {
  const demo = api === null || key === null ? await readDemo(join(home, 'demo.json')) : null
  const baseUrl = api ?? demo?.api ?? null
  // The key of the demo must be sent to the API of the demo only.
  const apiKey = key ?? (api === null || api === demo?.api ? (demo?.key ?? null) : null)
  if (baseUrl === null)
    throw new Error(
      `no API is known: set PARLEY_API, or start Parley with "npm start", which writes ${join(home, 'demo.json')}`,
    )
  if (apiKey === null)
    throw new Error(`no API key is known for ${baseUrl}: set PARLEY_KEY (parley_live_… or parley_test_…)`)
  return new ParleyClient({ baseUrl, key: apiKey })
}

async function readDemo(path: string): Promise<z.output<typeof demoFile> | null> {
  try {
    return demoFile.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch {
    return null
  }
}
