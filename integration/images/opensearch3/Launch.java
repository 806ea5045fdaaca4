import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.opensearch.Version;
import org.opensearch.analysis.common.CommonAnalysisModulePlugin;
import org.opensearch.common.settings.Settings;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.plugins.Plugin;
import org.opensearch.plugins.PluginInfo;
import org.opensearch.transport.Netty4ModulePlugin;

/**
 * Runs one OpenSearch 3 node from its Maven jars. Settings come from environment variables with a dot in their name, as in
 * the official image. Settings of plugins are left out: these jars have none, and an unknown setting stops a node.
 */
public class Launch {
  /** Node's constructor that takes plugins from the class path is protected. */
  static class FromClassPath extends Node {
    FromClassPath(Settings settings) {
      super(
          InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "node"),
          List.of(plugin(Netty4ModulePlugin.class), plugin(CommonAnalysisModulePlugin.class)),
          true);
    }

    /** Since OpenSearch 3 plugins on the class path are described, not only named. */
    private static PluginInfo plugin(Class<? extends Plugin> c) {
      return new PluginInfo(c.getName(), "", "", Version.CURRENT, "21", c.getName(), null, List.of(), false);
    }
  }

  public static void main(String[] args) throws Exception {
    Settings.Builder settings =
        Settings.builder()
            .put("transport.type", "netty4")
            .put("http.type", "netty4")
            .put("path.home", "/opt/server/home")
            .put("path.data", "/var/lib/server")
            .put("network.host", "0.0.0.0");
    for (Map.Entry<String, String> e : System.getenv().entrySet()) {
      if (e.getKey().contains(".") && !e.getKey().startsWith("plugins.")) settings.put(e.getKey(), e.getValue());
    }
    Node node = new FromClassPath(settings.build());
    CountDownLatch closed = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  try {
                    node.close();
                  } catch (Exception e) {
                    e.printStackTrace();
                  }
                  closed.countDown();
                }));
    node.start();
    System.out.println("started");
    closed.await();
  }
}
