import { type DemoFile, readDemoFile, writeDemoFile } from './demo-file.ts'

const PROBE_TIMEOUT_MS = 2000

/**
 * Writes `demo` to `demo.json` of the home, unless the file names the API of another process that still accepts its key. Returns
 * the URL of the API that the file names afterwards; null: none.
 */
export async function claimDemoFile(home: string, demo: DemoFile): Promise<string | null> {
  const known = await readDemoFile(home)
  if (known?.api != null && known.api !== demo.api && known.key !== null && (await acceptsKey(known.api, known.key)))
    return known.api
  await writeDemoFile(home, demo)
  return demo.api
}

async function acceptsKey(api: string, key: string): Promise<boolean> {
  try {
    const answer = await fetch(`${api}/api/v1/environments`, {
      redirect: 'manual',
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    })
    await answer.body?.cancel()
    return answer.ok
  } catch {
    return false
  }
}
