import { setFlagsFromString } from 'node:v8'

/**
 * V8 judges by the first hundred objects that a line of code has made whether those to come will be made among the old
 * ones. A job lives for milliseconds, but in the first moments of a worker all jobs it has seen are alive: with luck
 * the judgement is right, in every other process it was wrong. Then everything a job refers to outlives the scavenges,
 * each of which stops the process for 14 ms instead of 4: 83,000 jobs/s instead of 103,000 on the same machine.
 *
 * It holds for the whole process. So a process that is pawl's own says it (`cli/main.ts`), and the library never does:
 * an application's other objects are not pawl's to judge. What really lives long is copied twice before it is old, as
 * it is in every process that makes less than a hundred of it.
 */
export function withoutPretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring')
}
