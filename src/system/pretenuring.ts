import { setFlagsFromString } from 'node:v8'

/**
 * V8 judges by the first hundred objects that a line of code has made whether those to come will be made among the old
 * ones. A job lives for milliseconds, but in the first moments of a worker all jobs it has seen are alive: with luck
 * the judgement is right, in every other process it was wrong. Then everything a job refers to outlives the scavenges,
 * each of which stops the process for 14 ms instead of 4: 83,000 jobs/s instead of 103,000 on the same machine.
 *
 * For the whole process, and only as long as nobody says `pretenuring: 'keep'`. What really lives long is copied twice
 * before it is old, as it is in every process that makes less than a hundred of it.
 */
export function withoutPretenuring(set: (flag: string) => void = setFlagsFromString): void {
  if (done) return
  done = true
  set('--no-allocation-site-pretenuring')
}

let done = false
