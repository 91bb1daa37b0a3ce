import { describe, expect, it } from "vitest";
import { serviceOf } from "./command/daemon-install.ts";
import { launchdPlist, systemdUnit } from "./service-definition.ts";

const parts = {
  command: ["/opt/no de/bin/node", "/opt/reeve/100%/daemon.js", "$x"],
  environment: { PATH: "/usr/bin:/bin", REEVE_HOME: '/home/a "b" & c' },
};

describe("systemdUnit", () => {
  it("leaves the sessions alone and quotes what needs it", () => {
    expect(systemdUnit(parts)).toBe(`[Unit]
Description=Reeve, which looks after agent sessions

[Service]
Type=exec
ExecStart="/opt/no de/bin/node" "/opt/reeve/100%%/daemon.js" "$$x"
Environment=PATH=/usr/bin:/bin
Environment="REEVE_HOME=/home/a \\"b\\" & c"
# Only the daemon itself is stopped: the sessions, in a tmux server of their own, run on.
KillMode=process
Restart=on-failure
RestartSec=1

[Install]
WantedBy=default.target
`);
  });
});

describe("launchdPlist", () => {
  it("leaves the sessions alone and escapes what needs it", () => {
    const plist = launchdPlist(parts);
    expect(plist).toContain("<key>AbandonProcessGroup</key>\n    <true/>");
    expect(plist).toContain(
      "<string>/opt/no de/bin/node</string>\n      <string>/opt/reeve/100%/daemon.js</string>\n      <string>$x</string>",
    );
    expect(plist).toContain('<string>/home/a "b" &amp; c</string>');
  });
});

describe("serviceOf", () => {
  const context = { root: process.cwd(), environment: { HOME: "/home/a", PATH: "/bin" } };

  it("knows where each system looks, and what enables it", () => {
    expect(serviceOf(context, "linux")).toMatchObject({
      path: "/home/a/.config/systemd/user/reeve.service",
      enable: expect.arrayContaining(["systemctl --user enable --now reeve.service"]),
    });
    expect(serviceOf(context, "darwin")).toMatchObject({
      path: "/home/a/Library/LaunchAgents/dev.reeve.daemon.plist",
      enable: ["launchctl bootstrap gui/$(id -u) '/home/a/Library/LaunchAgents/dev.reeve.daemon.plist'"],
    });
  });
});
