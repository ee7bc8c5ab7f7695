import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import type { PlatformProcess } from './platform-process.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Port of 127.0.0.1 where `GET /?workspace=NAME` answers a `Workspace`, or the text of an error. */
    parleySharedPlatform: number
  }
}

// Of the process: groups of tests that it runs share one platform.
let starting: Promise<PlatformProcess> | undefined
let groups = 0

/** One started platform for the test files of all groups of a run, started when the first of them asks, stopped with the last group. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  groups++
  const server = createServer((request, response) => {
    answer(request.url!, response).catch((error: Error) => response.writeHead(500).end(error.message))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A run without whole platforms ends as if this were not here.
  server.unref()
  project.provide('parleySharedPlatform', (server.address() as AddressInfo).port)
  return async () => {
    server.close()
    server.closeAllConnections()
    groups--
    if (groups > 0) return
    const started = starting
    starting = undefined
    await (await started?.catch(() => undefined))?.stop()
  }
}

async function answer(url: string, response: ServerResponse): Promise<void> {
  const name = new URL(url, 'http://localhost').searchParams.get('workspace')
  // What it imports takes a second of CPU: a run without whole platforms is spared that.
  starting ??= import('./platform-process.ts').then(({ PlatformProcess }) => PlatformProcess.start())
  const platform = await starting
  response.end(JSON.stringify(name === null ? platform.demo : await platform.newWorkspace(name)))
}
