// SPDX-License-Identifier: MIT
// The dashboard's server inside a process of Python's, for notebooks.
#include "serve/server.h"

#include "bind.h"

namespace flightdeck::python {

void bind_server(py::module_& module) {
  py::class_<serve::Server, std::shared_ptr<serve::Server>>(module, "Server")
      .def(py::init([](const std::string& folder,
                       const std::string& host,
                       int port,
                       const std::string& token) {
             serve::ServerOptions options;
             options.folder = folder;
             options.host = host;
             options.port = port;
             options.token = token;
             options.in_frames = true;
             auto server = std::make_shared<serve::Server>(std::move(options));
             server->start();
             return server;
           }),
           py::arg("folder"),
           py::kw_only(),
           py::arg("host") = "127.0.0.1",
           py::arg("port") = 0,
           py::arg("token") = "",
           Unlocked())
      .def_property_readonly("address", &serve::Server::address)
      .def_property_readonly("port", &serve::Server::port)
      .def("stop", &serve::Server::stop, Unlocked());
}

}  // namespace flightdeck::python
