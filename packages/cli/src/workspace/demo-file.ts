import { chmod, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const demoFile = z.object({
  api: z.string().nullable(),
  key: z.string().nullable(),
  console: z.string().nullable(),
  sip: z.string().nullable(),
  agent_id: z.string().nullable(),
  number: z.string().nullable(),
  phone: z.string().nullable(),
})

/** Content of the file that `npm start` writes: addresses, and the admin key of the demo workspace. */
export type DemoFile = z.output<typeof demoFile>

/** Null if the file is missing or invalid. */
export async function readDemoFile(home: string): Promise<DemoFile | null> {
  try {
    return demoFile.parse(JSON.parse(await readFile(demoFilePath(home), 'utf8')))
  } catch {
    return null
  }
}

/** Written atomically, readable by its owner only. */
export async function writeDemoFile(home: string, demo: DemoFile): Promise<void> {
  const temporary = `${demoFilePath(home)}.new`
  await writeFile(temporary, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  await chmod(temporary, 0o600)
  await rename(temporary, demoFilePath(home))
}

/** Path of the file. */
export function demoFilePath(home: string): string {
  return join(home, 'demo.json')
}
