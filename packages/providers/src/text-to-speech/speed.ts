/** The nearest speed that a service has to the one that was asked for (0.5 to 2; default 1). */
export function nearestSpeed(speed: number | undefined, least: number, most: number): number {
  return Math.min(most, Math.max(least, speed ?? 1))
}
