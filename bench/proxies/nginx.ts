import { join } from 'node:path'
import { freePort } from '../../test/ports.ts'
import { debianInstalled } from '../installed.ts'
import { runProgram, startProgram } from '../processes.ts'
import type { Proxy } from './proxy.ts'

/** nginx with one worker, keep-alive on both sides, no access log, no buffering of answers. */
export const nginx: Proxy = {
  name: 'nginx',
  kind: 'relay',
  setup: '`proxy_pass`, one worker, keep-alive to the upstream, `proxy_buffering off`, no access log',
  needs: ['nginx'],
  prepare: () => Promise.resolve(),
  async version() {
    // nginx writes its version to stderr.
    const text = await runProgram(['sh', '-c', 'nginx -v 2>&1'], 5000)
    return /nginx\/\S+/.exec(text)?.[0] ?? 'nginx'
  },
  installed: () => debianInstalled(['nginx', 'nginx-common']),
  async launch({ upstreamPort, core, directory, register }) {
    const port = freePort()
    await Bun.write(join(directory, 'nginx.conf'), configuration(port, upstreamPort, directory))
    const command = ['nginx', '-p', directory, '-c', 'nginx.conf', '-e', 'stderr']
    return { program: startProgram({ name: 'nginx', command, core, directory }, register), port, headers: {} }
  },
}

function configuration(port: number, upstreamPort: number, directory: string): string {
  const isRoot = process.getuid?.() === 0
  const temporaries = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (use) => `  ${use}_temp_path ${directory}/${use};`,
  )
  return `${isRoot ? 'user root;\n' : ''}daemon off;
worker_processes 1;
worker_rlimit_nofile 8192;
pid ${directory}/nginx.pid;
error_log stderr;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_buffer_size 1m;
${temporaries.join('\n')}
  upstream mock { server 127.0.0.1:${upstreamPort}; keepalive 2048; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`
}
