#!/usr/bin/env node
// The `parley` command. It starts under the Node of the machine (20 or later), installs the packages of the checkout if they
// are missing, and continues under the Node 24 that is one of them.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { keepCompiled } from '../../../scripts/compile-cache.mjs'
import { ensure, nodeBinary } from '../../../scripts/ensure.mjs'

const REQUIRED_MAJOR = 24

try {
  await ensure({ quiet: true })
} catch (error) {
  process.stderr.write(`parley: ${error.message}\n`)
  process.exit(1)
}

if (Number(process.versions.node.split('.')[0]) >= REQUIRED_MAJOR) {
  keepCompiled()
  await import('../src/main.ts')
} else runUnder(nodeBinary)

function runUnder(node) {
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  const child = spawn(node, args, { stdio: 'inherit' })
  const forward = signal => child.kill(signal)
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2']
  for (const signal of signals) process.on(signal, forward)
  child.on('error', error => {
    process.stderr.write(`parley: cannot start ${node}: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    for (const name of signals) process.removeListener(name, forward)
    if (signal === null) process.exit(code ?? 1)
    // End by the same signal, so that the caller of this process sees it.
    process.kill(process.pid, signal)
  })
}
