/** The attacker's process: receives one job, sends one result, and exits when its parent disconnects. */
export function attack<Job, Result>(
  work: (job: Job) => Promise<Result>,
  cleanUp: () => void | Promise<void> = () => {},
): void {
  process.once('message', job => {
    work(job as Job).then(
      result => process.send?.(result as object),
      error => {
        process.stderr.write(`attacker: ${error instanceof Error ? error.stack : error}\n`)
        process.exit(1)
      },
    )
  })
  process.once('disconnect', async () => {
    await cleanUp()
    process.exit(0)
  })
}

export function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
