import { readFile } from 'node:fs/promises'

export async function version(): Promise<number> {
  const manifest: unknown = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  const { version: number } = manifest as { version: string }
  process.stdout.write(`parley ${number} (node ${process.versions.node})\n`)
  return 0
}
