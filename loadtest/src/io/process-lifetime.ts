/** Keeps a tool's process up until SIGTERM or SIGINT, then runs `close` and exits 0; 1 when that fails or takes 40 s. */
export function runUntilTerminated(close: () => Promise<void>): void {
  let closing = false
  const stop = () => {
    if (closing) return
    closing = true
    setTimeout(() => process.exit(1), 40_000).unref()
    close().then(
      () => process.exit(0),
      error => {
        console.error(String(error))
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/** The file behind `--config` on the command line, undefined without one. */
export function configPath(args: readonly string[]): string | undefined {
  const at = args.indexOf('--config')
  return at < 0 ? undefined : args[at + 1]
}
